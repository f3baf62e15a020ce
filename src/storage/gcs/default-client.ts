import type { AuthClient, GoogleAuthOptions } from "google-auth-library";

/** Finds the application's default credentials: a key file, gcloud's login, or the metadata server. */
export async function findDefaultClient(
  scope: string,
  clientOptions: GoogleAuthOptions["clientOptions"] = {},
): Promise<AuthClient> {
  // Loaded on first use: it is large, and no directory store and no emulator needs it.
  const { GoogleAuth, gcpMetadata } = await import("google-auth-library");
  // That the metadata server was not found is remembered by the library for the life of the process.
  gcpMetadata.resetIsAvailableCache();
  // Requests on objects need no project; without a name given here the library would look for one, by starting gcloud even.
  const auth = new GoogleAuth({ scopes: [scope], projectId: "-", clientOptions });
  return auth.getClient();
}
