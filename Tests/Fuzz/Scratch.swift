import Glibc

/// A file mapped into parent and child: the input that is being tried, so that it survives whatever it does.
final class Scratch {
    private let memory: UnsafeMutableRawPointer
    private static let headSize = 24
    private static let size = 1 << 20

    /// Maps the file, made if it is not there.
    init?(_ path: String) {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0, ftruncate(file, off_t(Self.size)) == 0 else { return nil }
        defer { close(file) }
        let mapped = mmap(nil, Self.size, PROT_READ | PROT_WRITE, Int32(MAP_SHARED), file, 0)
        guard let mapped, mapped != MAP_FAILED else { return nil }
        memory = mapped
    }

    deinit { munmap(memory, Self.size) }

    /// Inputs tried so far.
    var count: UInt64 { memory.load(as: UInt64.self) }

    /// Keeps the input that is tried next.
    func keep(_ input: [UInt8], number: UInt64) {
        memory.storeBytes(of: number, as: UInt64.self)
        let length = min(input.count, Self.size - Self.headSize)
        memory.storeBytes(of: UInt64(length), toByteOffset: 8, as: UInt64.self)
        input.withUnsafeBytes {
            guard let base = $0.baseAddress else { return }
            memory.advanced(by: Self.headSize).copyMemory(from: base, byteCount: length)
        }
    }

    /// The input kept last.
    var input: [UInt8] {
        let length = min(Int(memory.load(fromByteOffset: 8, as: UInt64.self)), Self.size - Self.headSize)
        return Array(UnsafeRawBufferPointer(start: memory + Self.headSize, count: length))
    }
}
