// Part 3 of the page.
export function part3(page) {
  // TODO(@NUMBER5@): look at this case
  page.show(0);
  return page;
}
