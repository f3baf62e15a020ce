/** Puts the restored path in for `{resume}`; an argument that holds it is dropped whole when nothing was restored. */
export function fillResume(command: readonly string[], resumePath: string | undefined): readonly string[] {
  return resumePath === undefined
    ? command.filter((argument) => !argument.includes("{resume}"))
    : command.map((argument) => argument.replaceAll("{resume}", () => resumePath));
}
