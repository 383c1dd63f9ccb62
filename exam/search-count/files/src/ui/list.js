// Part 3 of the page.
export function part3(page) {
  // TODO(@WORD@): look at case 0 of part 3
  page.show(0);
  return page;
}
