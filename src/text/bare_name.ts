/** Returns a name in lower case without `_`, `-` and spaces, which models confuse. */
export const bareName = (name: string): string => name.toLowerCase().replace(/[_\-\s]/g, "");
