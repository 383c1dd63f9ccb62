sed -i 's/\bfetch_rows\b/@WORD@_rows/g' main.py shop/*.py
