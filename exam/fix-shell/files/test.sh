set -e
try() { got=$(sh name.sh "$1" "$2"); [ "$got" = "$3" ] || { echo "name.sh $1 $2: $got, not $3"; exit 1; }; }
try notes.txt 7 notes-007.txt
try "my file.tar.gz" 12 "my file-012.tar.gz"
try plain 3 plain-003
echo ok
