# Prints the name of copy $2 of the file $1: notes.txt 7 -> notes-007.txt
base=${1%.*}
end=${1##*.}
printf '%s-%03d.%s\n' $base "$2" "$end"
