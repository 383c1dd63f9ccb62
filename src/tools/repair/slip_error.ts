/** A slip that has no reading, or several: the message is for the model, and shows what is right. */
export class SlipError extends Error {
  override name = "SlipError";
}
