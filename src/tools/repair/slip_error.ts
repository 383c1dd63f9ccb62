/** A mistake with no reading, or several. The message shows the model the correct forms. */
export class SlipError extends Error {
  override name = "SlipError";
}
