import Messages
import Pipeline

/// `purser notifications redrive`: has stored notifications told again, each as a new message, to be decided anew.
///
/// The command only asks; NotificationIntake chooses, verifies and tells, page by page. Interrupted, or run twice, it
/// tells some of them twice, which changes nothing where the first telling was decided.
struct RedriveCommand {
    static let usage = """
        usage: purser notifications redrive [--uuid UUID… | --type TYPE… | --unrecognised]
                                            [--environment Production|Sandbox] [--dry-run] --actor NAME

          --uuid          these; may be repeated
          --type          every stored one of Apple's type, REFUND for example; may be repeated
          --unrecognised  those that no version knew when they came and this one knows
        """

    let output: (String) -> Void
    let environment: [String: String]

    /// What was asked for.
    struct Options: Equatable {
        var uuids: [String] = []
        var types: [String] = []
        var isUnrecognised = false
        var environment: StoreEnvironment?
        var isDryRun = false
        var actor = ""

        /// Nil if the words are no usage.
        init?(_ arguments: [String]) {
            guard arguments.first == "redrive" else { return nil }
            var rest = arguments.dropFirst()
            while let word = rest.popFirst() {
                switch word {
                case "--unrecognised": isUnrecognised = true
                case "--dry-run": isDryRun = true
                case "--uuid", "--type", "--environment", "--actor":
                    guard let value = rest.popFirst(), !value.isEmpty, !value.hasPrefix("-") else { return nil }
                    guard take(word, value) else { return nil }
                default: return nil
                }
            }
            let ways = [!uuids.isEmpty, !types.isEmpty, isUnrecognised].count { $0 }
            guard ways == 1, !actor.isEmpty else { return nil }
        }

        private mutating func take(_ word: String, _ value: String) -> Bool {
            switch word {
            case "--uuid":
                uuids.append(value.lowercased())
                return UUIDText.parse(value) != nil
            case "--type": types.append(value.uppercased())
            case "--actor": actor = value
            default:
                environment = StoreEnvironment(rawValue: value)
                return environment != nil
            }
            return true
        }
    }

    /// UUIDs of one request at most, as Intake takes them.
    private static let page = 500

    /// Exit code: 0 done, 1 not all could be told, 2 wrong usage or settings.
    nonisolated(nonsending) func run(arguments: [String]) async -> Int32 {
        guard let options = Options(arguments) else {
            output(Self.usage)
            return 2
        }
        return await Desk.with(environment, output) { desk in await redrive(options, desk) }
    }

    nonisolated(nonsending) private func redrive(_ options: Options, _ desk: Desk) async -> Int32 {
        var total: Int64 = 0
        var problems = 0
        do {
            try await desk.becomeReady()
            for request in Self.requests(options) {
                var request = request
                repeat {
                    let answer = try await desk.ask(request, expecting: NotificationRedriveAnswered.self, app: nil)
                    total += answer.count
                    for uuid in answer.unknown { output("not stored: \(uuid)") }
                    for uuid in answer.refused ?? [] {
                        output("not told, does not pass the verification of today: \(uuid)")
                    }
                    problems += answer.unknown.count + (answer.refused?.count ?? 0)
                    request.after = answer.next
                } while request.after != nil
            }
        } catch {
            output("stopped after \(total): \(error)")
            return 1
        }
        output(options.isDryRun ? "\(total) would be told again" : "\(total) told again")
        return problems == 0 ? 0 : 1
    }

    /// One for each page of UUIDs; one for everything else.
    static func requests(_ options: Options) -> [NotificationRedriveRequested] {
        func request(_ uuids: [String]) -> NotificationRedriveRequested {
            NotificationRedriveRequested(
                notificationUUIDs: uuids, environment: options.environment, notificationTypes: options.types,
                actor: options.actor, isDryRun: options.isDryRun)
        }
        guard !options.uuids.isEmpty else { return [request([])] }
        return stride(from: 0, to: options.uuids.count, by: page).map {
            request(Array(options.uuids[$0..<min($0 + page, options.uuids.count)]))
        }
    }
}
