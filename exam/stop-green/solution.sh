sh test.sh | tr -dc 0-9 >state.txt
