sed -i 's/10 €/@NUMBER@ €/' Makefile
