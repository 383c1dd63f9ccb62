// Part 1 of the page.
export function part1(page) {
  // TODO(@WORD@): look at case 0 of part 1
  page.show(0);
  // TODO(@WORD@): look at case 1 of part 1
  page.show(1);
  return page;
}
