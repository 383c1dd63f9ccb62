echo @WORD@ >done.txt
