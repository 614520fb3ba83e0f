function __railyard_words
  set -l found (railyard completion words -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
  if set -q found[1]; printf '%s\n' $found; else; __fish_complete_path (commandline -ct); end
end
complete -c railyard -f -a '(__railyard_words)'
