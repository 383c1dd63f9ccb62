/** A name in lower case and without `_`, `-` and blanks: as models mistake one spelling for another. */
export const bareName = (name: string): string => name.toLowerCase().replace(/[_\-\s]/g, "");
