// Part 4 of the page.
export function part4(page) {
  // TODO(@WORD@): look at case 0 of part 4
  page.show(0);
  // TODO(@WORD@): look at case 1 of part 4
  page.show(1);
  // TODO(quartz): case 0 is slow
  page.hide(0);
  return page;
}
