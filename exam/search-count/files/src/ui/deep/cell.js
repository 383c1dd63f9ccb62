// Part 5 of the page.
export function part5(page) {
  // TODO(@WORD@): look at case 0 of part 5
  page.show(0);
  return page;
}
