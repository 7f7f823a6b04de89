import AppStoreSimulation
import Glibc
import Testing
import Trust

@testable import Verification

@Suite struct TrustSettingsTests {
    private func withRoots<R>(mode: mode_t, _ body: (String) throws -> R) throws -> R {
        let folder = "/tmp/purser-roots-\(UInt64.random(in: 0 ... .max))"
        mkdir(folder, 0o700)
        defer {
            for name in [SimulatedAuthority.certificatesFile, SimulatedAuthority.rootFile, SimulatedAuthority.keyFile] {
                unlink(folder + "/" + name)
            }
            rmdir(folder)
        }
        try SimulatedAuthority.generate().save(in: folder)
        let file = folder + "/" + SimulatedAuthority.rootFile
        chmod(file, mode)
        return try body(file)
    }

    private func problems(_ rootsFile: String) -> [String] {
        // The apps' folder is missing on purpose: both problems must be told at once.
        guard case .failure(let problems) = TrustSettings.load(appsFolder: "/nowhere", rootsFile: rootsFile) else {
            return []
        }
        return problems.sentences
    }

    @Test(arguments: [0o644, 0o620, 0o606] as [mode_t])
    func `a file of additional roots that others can read or write is refused (A-136)`(mode: mode_t) throws {
        try withRoots(mode: mode) { file in
            let told = problems(file)
            #expect(told.contains("others can read or write the additional roots; run chmod 600 \(file)"))
            #expect(told.count == 2)
        }
    }

    @Test func `a file that is its owner's alone is read, a missing one is named`() throws {
        try withRoots(mode: 0o600) { file in #expect(problems(file).count == 1) }
        #expect(
            problems("/nowhere/root.pem").contains("the file of additional roots does not exist: /nowhere/root.pem"))
    }
}
