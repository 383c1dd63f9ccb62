echo $((@NUMBER0@ + @NUMBER1@ + @NUMBER2@ + @NUMBER3@ + @NUMBER4@ + @NUMBER5@)) >total.txt
