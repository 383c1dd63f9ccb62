// Part 0 of the page.
export function part0(page) {
  // TODO(@WORD@): look at case 0 of part 0
  page.show(0);
  // TODO(quartz): case 0 is slow
  page.hide(0);
  return page;
}
