import AppStoreSimulation
import TestSupport
import Testing

@testable import AppStore

/// A table of what anybody can make of a genuine JWS.
@Suite struct MutantTests {
    @Test
    func `whatever is made of a genuine JWS without its key is refused for the right reason (S01 S03 S06 S07 S08 S09)`()
        throws
    {
        let world = try World()
        let jws = try world.signer.sign(World.transaction())
        let mutants = try JWSMutant.all(of: jws)
        #expect(mutants.count > 250)
        // By a verifier that has never met the signer, and by one that knows it.
        var stranger = try World().verifier
        var familiar = try World().verifier
        _ = try familiar.verifyTransaction(jws, now: World.now)
        for mutant in mutants where mutant.text != jws {
            for isKnown in [false, true] {
                let reason = isKnown ? Self.refusal(&familiar, mutant.text) : Self.refusal(&stranger, mutant.text)
                #expect(
                    mutant.reasons.contains(reason ?? "none"),
                    "\(mutant.name), known \(isKnown): \(reason ?? "accepted")")
            }
        }
        #expect(stranger.cachedSigners == 0, "no forged chain is remembered")
        #expect(familiar.cachedSigners == 1)
        #expect(
            try familiar.verifyTransaction(jws, now: World.now).transaction.payload.transactionID == "2000000000000001")
    }

    private static func refusal(_ verifier: inout SignedDataVerifier, _ text: [UInt8]) -> String? {
        do throws(VerificationFailure) {
            _ = try verifier.verifyTransaction(text, now: World.now)
            return nil
        } catch {
            return error.reason.rawValue
        }
    }
}
