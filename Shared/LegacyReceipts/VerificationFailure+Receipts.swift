public import AppStore

extension VerificationFailure {
    /// Whether a receipt that failed so was not judged at all: its form, its algorithm, its key, a certificate or a field
    /// is of a kind that this version does not know. Only then may anybody else be asked. What was judged stays judged: a
    /// wrong signature, a chain that leads to no pinned root or lacks Apple's marks, dates that do not fit, another app,
    /// another environment.
    public var leavesReceiptOpen: Bool {
        switch reason {
        case .format, .alg, .key, .certificate, .payloadField: true
        default: false
        }
    }
}
