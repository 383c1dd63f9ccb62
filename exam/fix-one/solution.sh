sed -i 's|return total // size|return -(-total // size)|; s|number \* size|(number - 1) * size|' paging.py
