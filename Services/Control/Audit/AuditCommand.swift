import JSON
import Observability

/// `purser audit`: proves on the live database that the books add up and that nothing verified is lost.
///
/// It only reads: with the rights of `purser_auditor`, in one snapshot, and from the broker nothing but the lengths of
/// queues. What each check proves is in the table ``AuditCheck/all`` and in docs/guides/audit.md.
struct AuditCommand {
    let output: (String) -> Void
    let environment: [String: String]

    /// Nothing found.
    static let clean: Int32 = 0
    /// Something was found.
    static let found: Int32 = 1
    /// It could not be carried out.
    static let impossible: Int32 = 2

    /// Runs it; returns the exit status. Blocks.
    func run(arguments: [String]) -> Int32 {
        let options: AuditOptions
        do throws(AuditOptions.Problem) {
            options = try AuditOptions(arguments)
        } catch {
            output("purser audit: \(error.text)")
            output(AuditOptions.usage)
            return Self.impossible
        }
        guard !options.wantsHelp else {
            output(AuditOptions.usage)
            return Self.clean
        }
        switch ControlSettings.read(environment: environment, needing: [.database]) {
        case .failure(let problems): return refuse(problems.sentences, options)
        case .success(let settings):
            guard let database = settings.database else { return Self.impossible }
            return run(Auditor(database: database, broker: settings.broker, options: options))
        }
    }

    private func run(_ auditor: Auditor) -> Int32 {
        let options = auditor.options
        do {
            let report = try auditor.run(since: options.stateFile.flatMap { AuditState.read($0) })
            if options.isJSON {
                output(String(decoding: JSONWriter.write(report.json), as: UTF8.self))
            } else {
                for line in report.lines { output(line) }
            }
            guard let file = options.stateFile, report.settlesAll else { return report.exitCode }
            let state = AuditState(watermark: report.snapshot - AuditState.overlap, database: report.database)
            guard state.write(to: file) else {
                if !options.isJSON { output("\(file) cannot be written: the next audit begins where this one did") }
                return Self.impossible
            }
            return report.exitCode
        } catch let error as Auditor.Impossible {
            return refuse(error.sentences, options)
        } catch {
            return refuse(["\(error)"], options)
        }
    }

    private func refuse(_ sentences: [String], _ options: AuditOptions) -> Int32 {
        if options.isJSON {
            let object: JSONObject = [
                "clean": false, "exitCode": .integer(Int64(Self.impossible)),
                "problems": .array(sentences.map { .string($0) }),
            ]
            output(String(decoding: JSONWriter.write(object), as: UTF8.self))
        } else {
            output("the audit could not be carried out:")
            for sentence in sentences { output("  \(sentence)") }
        }
        return Self.impossible
    }
}
