// Part 1 of the page.
export function part1(page) {
  // TODO(@NUMBER2@): look at this case
  page.show(0);
  // TODO(@NUMBER3@): look at this case
  page.show(1);
  return page;
}
