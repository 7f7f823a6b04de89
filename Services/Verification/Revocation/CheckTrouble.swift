import Crypto
import HTTPClient

/// Why nothing is known about a certificate after an attempt.
enum CheckTrouble: Error, Equatable {
    /// The certificate says nowhere whom to ask.
    case noAddress
    /// It names a host that is not listed, or an address that no name may stand for.
    case addressRefused
    /// No complete answer came.
    case unreachable(HTTPClientError)
    /// An answer of HTTP, and no success.
    case status(Int)
    /// An answer that says nothing that can be believed.
    case unusable(OCSPError)
    /// An answer that was right before one that is known already.
    case older
    /// The question could not be made.
    case failed(CryptoError)

    /// A stable name: of the metric, and in the table.
    var name: String {
        switch self {
        case .noAddress: "no_address"
        case .addressRefused, .unreachable(.privateAddress): "address_refused"
        case .unreachable(.timeout): "timeout"
        case .unreachable(.responseTooLarge): "too_large"
        case .unreachable: "unreachable"
        case .status: "http_status"
        case .unusable(let error): String(error.code.dropFirst("ocsp.".count))
        case .older: "older"
        case .failed: "failed"
        }
    }

    /// Whether trying again may help before somebody changes certificates or settings.
    var isPassing: Bool {
        switch self {
        case .noAddress, .addressRefused, .unreachable(.privateAddress): false
        default: true
        }
    }

    /// For the log.
    var detail: String {
        switch self {
        case .noAddress: "the certificate names no responder"
        case .addressRefused: "the responder's host is not one that may be asked"
        case .unreachable(let error): "\(error)"
        case .status(let status): "HTTP status \(status)"
        case .unusable(let error): "\(error)"
        case .older: "the answer is older than one that is known"
        case .failed(let error): "\(error)"
        }
    }
}
