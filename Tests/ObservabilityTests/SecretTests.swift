import Observability
import Testing

@Suite struct SecretTests {
    private static let canary = "canary-7f3a9c"

    private struct Settings {
        var password = Secret(SecretTests.canary)
        var optional: Secret? = Secret(bytes: Array(SecretTests.canary.utf8))
    }

    @Test func `a secret never shows in any text form`() {
        let secret = Secret(Self.canary)
        let optional: Secret? = secret
        var dumped = ""
        dump(Settings(), to: &dumped)
        dump(secret, to: &dumped)
        let forms = [
            secret.description, secret.debugDescription, "\(secret)", String(describing: optional),
            String(reflecting: secret), "\([secret])", "\(["k": secret])", "\(Settings())",
            String(reflecting: Settings()), dumped,
            Mirror(reflecting: secret).children.map { "\($0.value)" }.joined(),
        ]
        for form in forms {
            #expect(!form.contains("canary"))
            #expect(!form.contains("99, 97, 110"), "the bytes show")
        }
        #expect(secret.description == "***")
    }

    @Test func `a secret cannot be encoded`() {
        #expect(!((Secret("a") as Any) is any Encodable))
    }

    @Test func `revealing gives the secret back`() {
        #expect(Secret(Self.canary).reveal() == Self.canary)
        #expect(Secret(bytes: [0, 255, 1]).revealBytes() == [0, 255, 1])
        #expect(Secret("äb").count == 3)
    }

    @Test func `secrets are equal when all their bytes are`() {
        #expect(Secret("abc") == Secret(bytes: [97, 98, 99]))
        #expect(Secret("abc") != Secret("abd"))
        #expect(Secret("abc") != Secret("ab"))
        #expect(Secret("") == Secret(""))
    }
}
