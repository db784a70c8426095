/** The part of the platform's WebAssembly that the vector kernels use; Node's types leave it out. */
declare global {
  namespace WebAssembly {
    class Memory {
      constructor(size: { initial: number })
      readonly buffer: ArrayBuffer
      grow(pages: number): number
    }
    class Module {
      constructor(bytes: Uint8Array<ArrayBuffer>)
    }
    class Instance {
      constructor(module: Module, imports: Record<string, Record<string, unknown>>)
      readonly exports: Record<string, unknown>
    }
  }
}

export {}
