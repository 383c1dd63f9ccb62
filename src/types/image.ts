/** Images in messages and results. @module */

/** An image. */
export interface ImagePart {
  /** Distinguishes it from other parts. */
  type: "image";
  /** The type: `image/png`, `image/jpeg`, `image/webp` or `image/gif`. */
  mediaType: string;
  /** The file's bytes in base64. */
  data: string;
  /** The path of the file. */
  name?: string;
}

/** The limits of images that a backend accepts. */
export interface ImageLimits {
  /** The maximum size of the file, in bytes. */
  maxBytes: number;
  /** The maximum width and height, in pixels. */
  maxSide: number;
}
