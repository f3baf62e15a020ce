/** A URL as it may be shown: what stands for a password, in the authority or as a parameter, is starred out. */
export function redactUrl(url: string): string {
  return (
    url
      // The last @ before the path ends the user's part: an unencoded @ or / may be in the password.
      .replace(/^([A-Za-z][A-Za-z0-9+.-]*:\/\/[^:@/?#]*):.*@/, "$1:***@")
      .replace(/([?&](?:password|passwd|pwd|sslpassword|sslkey|token|secret)=)[^&#]*/gi, "$1***")
  );
}
