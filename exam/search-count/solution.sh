grep -rhE --include='*.js' '^ *// TODO[(][5-9][0-9]{3}[)]' src | wc -l >count.txt
