printf '%s\n' '# owner: @WORD@' 'The build works.' >notes.text
