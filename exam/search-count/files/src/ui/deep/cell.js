// Part 5 of the page.
export function part5(page) {
  // TODO(@NUMBER8@): look at this case
  page.show(0);
  // TODO(@NUMBER9@): look at this case
  page.show(1);
  return page;
}
