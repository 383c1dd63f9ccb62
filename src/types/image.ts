/** Images in messages and results. @module */

/** An image. */
export interface ImagePart {
  /** Tells it from the other parts. */
  type: "image";
  /** One of PNG, JPEG, WebP and GIF, as `image/png`. */
  mediaType: string;
  /** The file's bytes in base64. */
  data: string;
  /** The path that it came from. */
  name?: string;
  /** The SHA-256 of the file in hexadecimal: a record refers to the image by it. */
  hash?: string;
}

/** The limits of an image that a backend takes. */
export interface ImageLimits {
  /** The most bytes of its file. */
  maxBytes: number;
  /** The most pixels of its width, and of its height. */
  maxSide: number;
}
