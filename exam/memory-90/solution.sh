echo @WORD@-@NUMBER@ >label.txt
