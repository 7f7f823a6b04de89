/// What came of a target.
struct FuzzReport: Sendable, Equatable {
    /// Inputs tried.
    var inputs = 0
    /// Of them, accepted by the product.
    var accepted = 0
    /// Processor time of the slowest, in µs.
    var slowest = 0
    /// The most memory that was resident, in KiB.
    var memory = 0
    /// The promise that was broken, if one was.
    var failure: String?

    /// One line, as a child writes it and its parent reads it.
    var line: String {
        ([inputs, accepted, slowest, memory].map(String.init) + [failure ?? ""]).joined(separator: "\t")
    }

    /// Reads a line of a child.
    init?(line: some StringProtocol) {
        let parts = line.split(separator: "\t", maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count == 5, let inputs = Int(parts[0]), let accepted = Int(parts[1]), let slowest = Int(parts[2]),
            let memory = Int(parts[3])
        else { return nil }
        self.init(inputs: inputs, accepted: accepted, slowest: slowest, memory: memory)
        failure = parts[4].isEmpty ? nil : String(parts[4])
    }

    init(inputs: Int = 0, accepted: Int = 0, slowest: Int = 0, memory: Int = 0) {
        self.inputs = inputs
        self.accepted = accepted
        self.slowest = slowest
        self.memory = memory
    }
}
