import Glibc
import TestSupport
import Testing

@testable import Fuzz

/// The fuzzer's targets on what was found before, and on a few hundred inputs that are the same in every run.
@Suite struct CorpusTests {
    /// The authority is made once, before the tests that share it begin.
    private static let files: FuzzFiles = {
        let tests = #filePath.split(separator: "/").dropLast(2).reduce(into: "") { $0 += "/" + $1 }
        let state = getenv("PURSER_TEST_STATE").map { String(cString: $0) } ?? "/tmp/purser-fuzz-\(getpid())"
        let files = FuzzFiles(fixtures: tests + "/Fixtures", state: state + "/fuzz")
        FileBytes.makeFolder(files.state)
        _ = try? FuzzTargets.make("certificate", files)
        return files
    }()

    @Test(arguments: FuzzTargets.names) func `everything kept and a few hundred damages break nothing (R08, S10)`(
        name: String
    )
        async throws
    {
        let files = Self.files
        try await onThread {
            let target = try FuzzTargets.make(name, files)
            let report = Self.run(try #require(target))
            #expect(report.failure == nil, "\(name), input \(report.inputs)")
            #expect(report.inputs == 400)
            #expect(report.accepted > 0, "a target that accepts nothing checks nothing")
        }
    }

    private static func run(_ target: any FuzzTarget) -> FuzzReport {
        func open(_ opened: some FuzzTarget) -> FuzzReport {
            var opened = opened
            var loop = FuzzLoop(seed: 1, deadline: .now + .seconds(600))
            loop.most = 400
            loop.isAlone = false
            return loop.run(&opened)
        }
        return open(target)
    }
}
