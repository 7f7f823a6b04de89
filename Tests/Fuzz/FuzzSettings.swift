import Glibc

/// The arguments of `purser-fuzz`.
struct FuzzSettings {
    static let usage = """
        usage: purser-fuzz [--seconds N] [--seed N] [--target NAME]…   damages inputs and gives them to the product
               purser-fuzz --replay NAME FILE                          gives one input again, e.g. one that was kept

        --seconds N      for all targets together (default 60)
        --inputs N       for each target, however long they take (default: what fits into the time)
        --seed N         repeats a run (default: drawn and printed)
        --target NAME    \(FuzzTargets.names.joined(separator: ", ")) (default: all)
        --fixtures DIR   Tests/Fixtures of the clone (default: found from here)
        --failures DIR   where inputs that broke something are kept (default .local/fuzz)
        """

    /// Of the whole run.
    var seconds = 60
    /// Of each target at least; the time is then no limit.
    var inputs = 0
    var seed = UInt64.random(in: 0...999_999_999)
    var targets: [String] = []
    var fixtures = "Tests/Fixtures"
    var failures = ".local/fuzz"
    /// Target and file.
    var replay: (target: String, file: String)?
    /// Set for a child: the file that its input is kept in.
    var scratch: String?

    /// Reads them; nil if they cannot be understood.
    init?(_ arguments: [String]) {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            switch name {
            case "--seconds":
                guard let value = rest.popFirst().flatMap(Int.init), value > 0 else { return nil }
                seconds = value
            case "--inputs":
                guard let value = rest.popFirst().flatMap(Int.init), value >= 0 else { return nil }
                inputs = value
            case "--seed":
                guard let value = rest.popFirst().flatMap(UInt64.init) else { return nil }
                seed = value
            case "--target":
                guard let value = rest.popFirst(), FuzzTargets.names.contains(value) else { return nil }
                targets.append(value)
            case "--replay":
                guard let target = rest.popFirst(), let file = rest.popFirst() else { return nil }
                replay = (target, file)
            case "--fixtures":
                guard let value = rest.popFirst() else { return nil }
                fixtures = value
            case "--failures":
                guard let value = rest.popFirst() else { return nil }
                failures = value
            case "--scratch":
                guard let value = rest.popFirst() else { return nil }
                scratch = value
            default: return nil
            }
        }
        if targets.isEmpty { targets = FuzzTargets.names }
    }

    /// Where targets find what they need.
    var files: FuzzFiles { FuzzFiles(fixtures: fixtures, state: failures + "/authority") }
}
