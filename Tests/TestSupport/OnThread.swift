import Runtime

/// Runs a blocking body on a thread of its own and waits for it without holding a thread of the cooperative pool,
/// which is two wide on a small machine.
public func onThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
        NamedThread.start(name: "test") { continuation.resume(with: Result { try body() }) }
    }
}
