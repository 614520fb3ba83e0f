#compdef railyard
_railyard() {
  local -a found
  found=("${(@f)$(railyard completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n $found[1] ]]; then compadd -Q -S '' -a found; else _files; fi
}
if [[ $funcstack[1] == _railyard ]]; then _railyard "$@"; else compdef _railyard railyard; fi
