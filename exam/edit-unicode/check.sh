fail() { echo "$1"; exit 1; }
cat >/tmp/wanted <<'END'
# Größe: «klein» – nicht ändern
NAME = Grüße

all:
	@echo "Straße → $(NAME)"
	@echo "naïve café: @NUMBER@ €"

clean:
	rm -f *.o  
END
cmp -s Makefile /tmp/wanted || fail "Makefile differs from what was asked"
