fail() { echo "$1"; exit 1; }
cmp -s Makefile - <<'END' || fail "Makefile differs from what was asked"
# Größe: «klein» – nicht ändern
NAME = Grüße

all:
	@echo "Straße → $(NAME)"
	@echo "naïve café: @NUMBER@ €"

clean:
	rm -f *.o  
END
