// Part 2 of the page.
export function part2(page) {
  // done: TODO(9120) was here
  page.show(0);
  // TODO(@NUMBER4@): look at this case
  page.show(1);
  return page;
}
