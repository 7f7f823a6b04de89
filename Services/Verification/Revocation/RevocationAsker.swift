import Crypto
import HTTPClient

/// Asks responders about one certificate. Blocks its thread for at most the time of the settings.
///
/// To be called with certificates of a trusted chain only: the address is the certificate's.
struct RevocationAsker: Sendable {
    private let settings: ResponderSettings

    init(_ settings: ResponderSettings) { self.settings = settings }

    /// What the certificate's responder says, at `now` (seconds since 1970).
    ///
    /// - Parameter notBefore: of an answer that is known already; an older one is refused: somebody between us and the
    ///   responder may have kept it.
    func ask(
        about certificate: Certificate, issuedBy issuer: Certificate, notBefore: Int64, at now: Int64
    ) throws(CheckTrouble) -> OCSPAnswer {
        let body = try post(try address(of: certificate), about: certificate, issuer)
        let answer: OCSPAnswer
        do {
            answer = try OCSPResponse.check(body, about: certificate, issuedBy: issuer, at: now)
        } catch {
            throw .unusable(error)
        }
        guard answer.thisUpdate >= notBefore else { throw .older }
        return answer
    }

    /// The first address that may be asked.
    private func address(of certificate: Certificate) throws(CheckTrouble) -> ResponderAddress {
        let given = certificate.ocspAddresses
        guard !given.isEmpty else { throw .noAddress }
        let addresses = given.compactMap { ResponderAddress($0) }
        guard let address = addresses.first(where: { settings.hosts.contains($0.host) }) else { throw .addressRefused }
        return address
    }

    private func post(
        _ address: ResponderAddress, about certificate: Certificate, _ issuer: Certificate
    ) throws(CheckTrouble) -> [UInt8] {
        let request: OCSPRequest
        do {
            request = try OCSPRequest(about: certificate, issuedBy: issuer)
        } catch {
            throw .failed(error)
        }
        var configuration = HTTPClient.Configuration()
        configuration.connectTimeout = settings.timeout
        configuration.timeout = settings.timeout
        configuration.maximumResponseBytes = OCSPResponse.maximumBytes
        configuration.proxy = settings.proxy
        // The proxy looks up the name, and is an operator's own.
        configuration.allowsPrivateAddresses =
            settings.proxy != nil || settings.privateHosts.contains(address.host)
        let answer: HTTPClientResponse
        do throws(HTTPClientError) {
            // A new one each time: a connection of before was made for another host's rules.
            var client = try HTTPClient.open(configuration)
            answer = try client.send(
                HTTPClientRequest(
                    "POST", address.url,
                    headers: [("Content-Type", "application/ocsp-request"), ("Accept", "application/ocsp-response")],
                    body: request.der))
        } catch {
            throw .unreachable(error)
        }
        // Redirects are not followed: they are no success.
        guard answer.status == 200 else { throw .status(answer.status) }
        return answer.body
    }
}
