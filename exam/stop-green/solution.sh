echo green >state.txt
