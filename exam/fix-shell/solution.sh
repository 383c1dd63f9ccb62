cat >name.sh <<'END'
base=${1%%.*}
case $1 in *.*) end=.${1#*.} ;; *) end= ;; esac
printf '%s-%03d%s\n' "$base" "$2" "$end"
END
