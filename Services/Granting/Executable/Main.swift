import Glibc
import Granting

@main
enum GrantingMain {
    static func main() { exit(GrantingService.run()) }
}
