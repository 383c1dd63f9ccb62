// Part 0 of the page.
export function part0(page) {
  // TODO(@NUMBER0@): look at this case
  page.show(0);
  // FIXME(8123): this case is slow
  page.show(1);
  // TODO(@NUMBER1@): look at this case
  page.show(2);
  return page;
}
