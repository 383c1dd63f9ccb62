// Part 4 of the page.
export function part4(page) {
  // TODO(@NUMBER6@): look at this case
  page.show(0);
  // TODO(@NUMBER7@): look at this case
  page.show(1);
  // FIXME(6001): this case is slow
  page.show(2);
  return page;
}
