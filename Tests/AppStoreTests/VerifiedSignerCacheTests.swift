import AppStoreSimulation
import Crypto
import JSON
import Testing

@testable import AppStore

/// Keeping the signers of verified chains.
@Suite struct VerifiedSignerCacheTests {
    @Test func `only signers whose chain verified are kept`() throws {
        var world = try World()
        let stranger = TransactionSigner(try SimulatedAuthority.generate())
        #expect(world.refusal(try stranger.sign(World.transaction())) == .chainUntrusted)
        #expect(world.verifier.cachedSigners == 0)
        // Also where only the claims are bad, the chain was good.
        #expect(try world.refusal(["bundleId": "com.example.other"]) == .appMismatch)
        #expect(world.verifier.cachedSigners == 1)
        #expect(world.refusal(try stranger.sign(World.transaction())) == .chainUntrusted)
        #expect(world.verifier.cachedSigners == 1)
    }

    @Test func `the same header is kept once, another header beside it, and never more than the limit`() throws {
        var world = try World(cacheCapacity: 3)
        let payload = JSONWriter.write(World.transaction().json)
        for number in 0..<10 {
            var header = TransactionSigner.header(x5c: world.authority.x5c)
            header.set("kid", .string("\(number)"))
            for _ in 0..<3 {
                #expect(world.refusal(try world.signer.sign(payload: payload, header: header)) == nil)
            }
            #expect(world.verifier.cachedSigners == min(number + 1, 3))
        }
    }

    @Test func `the least recently used signer goes first`() throws {
        func signer(_ name: UInt8) throws -> VerifiedSigner {
            let authority = try World.shared.get()
            return try VerifiedSigner(
                headerSegment: [name], key: authority.leafKey.publicKey(),
                chain: SignerChain(leaf: authority.leaf, intermediate: authority.intermediate))
        }
        var cache = VerifiedSignerCache(capacity: 2)
        cache.insert(try signer(1))
        cache.insert(try signer(2))
        #expect(cache.signer(for: [1]) != nil)
        cache.insert(try signer(3))
        #expect(cache.signer(for: [2]) == nil)
        #expect(cache.signer(for: [1]) != nil)
        #expect(cache.signer(for: [3]) != nil)
    }

    @Test func `headers are told apart in every byte`() throws {
        let authority = try World.shared.get()
        let header = (0..<100).map { UInt8($0) }
        var cache = VerifiedSignerCache(capacity: 2)
        cache.insert(
            try VerifiedSigner(
                headerSegment: header, key: authority.leafKey.publicKey(),
                chain: SignerChain(leaf: authority.leaf, intermediate: authority.intermediate)))
        #expect(cache.signer(for: header[...]) != nil)
        #expect(cache.signer(for: header.dropLast()) == nil)
        for index in header.indices {
            var other = header
            other[index] ^= 0x80
            #expect(cache.signer(for: other[...]) == nil)
        }
    }
}
