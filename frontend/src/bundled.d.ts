/** The worker's code, bundled by build.mjs. */
declare module "worker-code" {
  const code: string;
  export default code;
}
