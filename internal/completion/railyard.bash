_railyard() {
  local line="${COMP_LINE:0:COMP_POINT}" cur words
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  cur="${words[${#words[@]}-1]}"
  mapfile -t COMPREPLY < <(railyard completion words -- "${words[@]:1}" 2>/dev/null)
  [[ $cur == *=* ]] && COMPREPLY=("${COMPREPLY[@]#"${cur%=*}="}")
  [[ $cur == *:* ]] && COMPREPLY=("${COMPREPLY[@]#"${cur%:*}:"}")
  [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace
}
complete -o default -F _railyard railyard
